// SPDX-License-Identifier: Apache-2.0
// Precompiled headers need a program to belong to: this one consists of those of the unit tests. Nothing runs it.
