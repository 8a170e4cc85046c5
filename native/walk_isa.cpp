// The kernels of one instruction set. CMake compiles this file once for each, with LEAFGRAD_ISA set to its name.
#include "kernels.h"

#include "lanes.inl"
#include "route.inl"
#include "walk.inl"

#define LG_JOIN_(a, b) a##b
#define LG_JOIN(a, b) LG_JOIN_(a, b)
#define LG_TEXT_(a) #a
#define LG_TEXT(a) LG_TEXT_(a)

namespace leafgrad {

namespace {
constexpr int wide_vectors = 8;
constexpr int narrow_vectors = 1;
}  // namespace

extern const Kernels LG_JOIN(kernels_, LEAFGRAD_ISA);
const Kernels LG_JOIN(kernels_, LEAFGRAD_ISA) = {
    LG_TEXT(LEAFGRAD_ISA),
    wide_vectors * Lanes::width,
    narrow_vectors * Lanes::width,
    route,
    {walk_diagonal<wide_vectors>, walk_diagonal<narrow_vectors>},
    {walk_general<wide_vectors>, walk_general<narrow_vectors>},
    {walk_value<wide_vectors>, walk_value<narrow_vectors>},
};

}  // namespace leafgrad
