// SPDX-License-Identifier: Apache-2.0
// Measures the cost of starting and ending any process.
int main(void) { return 0; }
