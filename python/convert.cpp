// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <smd/elements.hpp>

#include <array>
#include <map>
#include <string_view>

namespace smd::python {

namespace {

/// Keeps a value for the arrays that show its elements.
struct Elements {
  TensorValue value;
};

py::buffer_info buffer_of(const Elements& elements) {
  const std::span<const std::byte> bytes = elements.value.bytes();
  // Nobody else has these elements, so their array may be written to.
  return {const_cast<std::byte*>(bytes.data()), 1, "B", 1, {bytes.size()}, {std::size_t{1}}};
}

py::object str_or_bytes(std::string_view text) {
  const auto size = static_cast<Py_ssize_t>(text.size());
  if (PyObject* const str = PyUnicode_DecodeUTF8(text.data(), size, nullptr)) {
    return py::reinterpret_steal<py::object>(str);
  }
  PyErr_Clear();
  return py::bytes(text.data(), text.size());
}

py::object text_array(const py::module_& numpy, const TensorValue& value) {
  const std::vector<std::string_view> all = strings(value.view());
  const py::object array = numpy.attr("empty")(all.size(), "object");
  for (std::size_t i = 0; i < all.size(); ++i) {
    array[py::int_(i)] = str_or_bytes(all[i]);
  }
  return array.attr("reshape")(py::cast(value.shape()));
}

/// Returns floating point of 8 or 16 bits as float32, exactly.
TensorValue widened(const TensorValue& value) {
  return visit_numbers(value.view(), [&](const auto& elements) {
    NewColumn<float> column(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      column[i] = static_cast<float>(elements[i]);
    }
    return column.value(Dtype::float32, value.shape(), elements.size() * sizeof(float));
  });
}

/// Returns the type of ml_dtypes with that name; None if the package is not installed or has no such type.
py::object ml_dtype(const std::string& name) {
  try {
    return py::getattr(py::module_::import("ml_dtypes"), name.c_str(), py::none());
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) {
      throw;
    }
    return py::none();
  }
}

}  // namespace

py::object to_array(const TensorValue& value) {
  const py::module_ numpy = py::module_::import("numpy");
  if (value.dtype() == Dtype::string) {
    return text_array(numpy, value);
  }
  py::object dtype = py::str(std::string(to_string(storage_type(value.dtype()))));
  if (numpy_kind(value.dtype()) == 'f' && item_size(value.dtype()) <= 2 && value.dtype() != Dtype::float16) {
    dtype = ml_dtype(std::string(to_string(value.dtype())));
    if (dtype.is_none()) {
      return to_array(widened(value));
    }
  }
  return numpy.attr("ndarray")(py::tuple(py::cast(value.shape())), dtype, py::cast(Elements{value}));
}

// ---- Arrow: the C data and C stream interfaces (https://arrow.apache.org/docs/format/CDataInterface.html).

namespace {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

/// A column: its numbers, or indices of texts.
struct ArrowColumn {
  std::string name;
  std::string format;
  std::size_t size = 0;
  std::shared_ptr<const void> owner;  // of `data`
  const void* data = nullptr;
  std::vector<std::int32_t> ends = {};  // of texts, if there are any: from 0 on
  std::string texts = {};
};

using ArrowTable = std::vector<ArrowColumn>;

/// What a stream owns.
struct ArrowSource {
  std::shared_ptr<const ArrowTable> table;
  bool taken = false;
};

/// What exported structures point to, which each of them keeps: consumers may move children out of their parent.
template <class Arrow>
struct Exported {
  std::shared_ptr<const ArrowTable> table;
  std::vector<Arrow> children;
  std::vector<Arrow> dictionaries;
  std::vector<Arrow*> pointers;
  std::vector<std::array<const void*, 3>> buffers;

  explicit Exported(std::shared_ptr<const ArrowTable> of)
      : table(std::move(of)), children(table->size()), dictionaries(table->size()), buffers(2 * table->size() + 1) {
    for (Arrow& child : children) {
      pointers.push_back(&child);
    }
  }
  static void release(Arrow* part) {
    for (std::int64_t i = 0; i < part->n_children; ++i) {
      if (part->children[i]->release != nullptr) {
        part->children[i]->release(part->children[i]);
      }
    }
    if (part->dictionary != nullptr && part->dictionary->release != nullptr) {
      part->dictionary->release(part->dictionary);
    }
    part->release = nullptr;
    delete static_cast<std::shared_ptr<Exported>*>(part->private_data);
  }
  /// Completes a structure, which owns `own` until it is released.
  static void keep(const std::shared_ptr<Exported>& own, Arrow& part) {
    part.release = release;
    part.private_data = new std::shared_ptr<Exported>(own);
  }
  static void keep_parts(const std::shared_ptr<Exported>& own) {
    for (std::size_t i = 0; i < own->children.size(); ++i) {
      if (!(*own->table)[i].ends.empty()) {
        own->children[i].dictionary = &own->dictionaries[i];
        keep(own, own->dictionaries[i]);
      }
      keep(own, own->children[i]);
    }
  }
};

int export_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  using Own = Exported<ArrowSchema>;
  const auto own = std::make_shared<Own>(static_cast<ArrowSource*>(stream->private_data)->table);
  for (std::size_t i = 0; i < own->children.size(); ++i) {
    own->children[i].format = (*own->table)[i].format.c_str();
    own->children[i].name = (*own->table)[i].name.c_str();
    own->dictionaries[i].format = "u";
  }
  *out = {};
  out->format = "+s";
  out->n_children = static_cast<std::int64_t>(own->children.size());
  out->children = own->pointers.data();
  Own::keep_parts(own);
  Own::keep(own, *out);
  return 0;
}

int export_batch(ArrowArrayStream* stream, ArrowArray* out) {
  using Own = Exported<ArrowArray>;
  *out = {};
  auto& source = *static_cast<ArrowSource*>(stream->private_data);
  if (std::exchange(source.taken, true)) {
    return 0;  // no further batch
  }
  const auto own = std::make_shared<Own>(source.table);
  const auto fill = [&](ArrowArray& array, std::size_t slot, std::size_t size, const void* data, const void* texts) {
    own->buffers[slot] = {nullptr, data, texts};
    array.length = static_cast<std::int64_t>(size);
    array.n_buffers = texts != nullptr ? 3 : 2;
    array.buffers = own->buffers[slot].data();
  };
  for (std::size_t i = 0; i < own->children.size(); ++i) {
    const ArrowColumn& column = (*own->table)[i];
    fill(own->children[i], 2 * i, column.size, column.data, nullptr);
    if (!column.ends.empty()) {
      fill(own->dictionaries[i], 2 * i + 1, column.ends.size() - 1, column.ends.data(), column.texts.data());
    }
  }
  fill(*out, 2 * own->children.size(), own->table->empty() ? 0 : own->table->front().size, nullptr, nullptr);
  out->n_buffers = 1;
  out->n_children = static_cast<std::int64_t>(own->children.size());
  out->children = own->pointers.data();
  Own::keep_parts(own);
  Own::keep(own, *out);
  return 0;
}

/// Shares the memory of an array of numbers until the last consumer is done with it.
void share_numbers(ArrowColumn& column, py::object array) {
  static const std::map<std::string, std::string> formats = {{"b", "c"}, {"B", "C"}, {"h", "s"}, {"H", "S"}, {"i", "i"},
                                                             {"I", "I"}, {"l", "l"}, {"L", "L"}, {"q", "l"}, {"Q", "L"},
                                                             {"e", "e"}, {"f", "f"}, {"d", "g"}};
  const auto found = formats.find(py::str(array.attr("dtype").attr("char")));
  if (found == formats.end()) {  // bool, which Arrow packs, and types that are not NumPy's own
    array = array.attr("astype")(py::str(array.attr("dtype").attr("kind")).cast<std::string>() == "b" ? "uint8"
                                                                                                      : "float32");
  }
  column.format = found == formats.end() ? formats.at(py::str(array.attr("dtype").attr("char"))) : found->second;
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(array.ptr(), view.get(), PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
    throw py::error_already_set();
  }
  column.data = view->buf;
  column.size = static_cast<std::size_t>(view->shape != nullptr ? view->shape[0] : 0);
  column.owner = std::shared_ptr<const void>(view.release(), [](const void* kept) {
    const py::gil_scoped_acquire gil;  // consumers release in any thread
    auto* const buffer = static_cast<Py_buffer*>(const_cast<void*>(kept));
    PyBuffer_Release(buffer);
    delete buffer;
  });
}

void share_texts(ArrowColumn& column, const py::list& all) {
  auto indices = std::make_shared<std::vector<std::int32_t>>();
  std::map<std::string, std::int32_t> known;
  const PyObject* last = nullptr;
  column.ends.push_back(0);
  for (const py::handle item : all) {
    if (item.ptr() != last) {
      const auto [place, is_new] =
          known.try_emplace(item.cast<Text>().value, static_cast<std::int32_t>(column.ends.size() - 1));
      if (is_new) {
        column.texts += place->first;
        column.ends.push_back(static_cast<std::int32_t>(column.texts.size()));
      }
      indices->push_back(place->second);
    } else {
      indices->push_back(indices->back());
    }
    last = item.ptr();
  }
  column.format = "i";
  column.size = indices->size();
  column.data = indices->data();
  column.owner = indices;
}

}  // namespace

py::capsule arrow_stream(const py::dict& columns) {
  auto table = std::make_shared<ArrowTable>();
  for (const auto& [name, array] : columns) {
    ArrowColumn& column = table->emplace_back();
    column.name = name.cast<Text>().value;
    if (py::str(array.attr("dtype").attr("char")).cast<std::string>() == "O") {
      share_texts(column, array.attr("tolist")());
    } else {
      share_numbers(column, py::reinterpret_borrow<py::object>(array));
    }
  }
  auto* const stream =
      new ArrowArrayStream{export_schema, export_batch, [](ArrowArrayStream*) -> const char* { return nullptr; },
                           [](ArrowArrayStream* done) {
                             delete static_cast<ArrowSource*>(done->private_data);
                             done->release = nullptr;
                           },
                           new ArrowSource{std::move(table)}};
  return py::capsule(stream, "arrow_array_stream", [](PyObject* capsule) {
    auto* const left = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
    if (left->release != nullptr) {
      left->release(left);
    }
    delete left;
  });
}

void add_elements(py::module_& module) {
  py::class_<Elements>(module, "_Elements", py::buffer_protocol()).def_buffer([](Elements& elements) {
    return buffer_of(elements);
  });
}

}  // namespace smd::python
