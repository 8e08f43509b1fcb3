// SPDX-License-Identifier: Apache-2.0
// The program that the precompiled headers of the unit tests belong to consists of them. Nothing runs it.
