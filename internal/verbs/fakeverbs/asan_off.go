//go:build !asan

package fakeverbs

// asan says that the test is instrumented, and the library is to be too.
const asan = false
