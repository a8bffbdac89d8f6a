// Package lab boots Debian's stock kernels under QEMU without KVM, makes
// their RDMA stack sick on purpose, and lets rdmadoctor examine it.
//
// A guest's root is an overlay of memory on this host's root, so every
// program of the host runs in it and no image is built. README.md beside
// this file says how it fits together and how a scenario is added.
package lab
