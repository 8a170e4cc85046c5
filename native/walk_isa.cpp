// The kernels of one instruction set. CMake compiles this file once for each, with LEAFGRAD_ISA set to its name.
#include "alone.inl"
#include "kernels.h"
#include "lanes.inl"
#include "lookup.inl"
#include "points.inl"
#include "probabilistic.inl"
#include "route.inl"
#include "stride.inl"
#include "walk.inl"

#define LG_JOIN_(a, b) a##b
#define LG_JOIN(a, b) LG_JOIN_(a, b)
#define LG_TEXT_(a) #a
#define LG_TEXT(a) LG_TEXT_(a)

namespace leafgrad {

extern const Kernels LG_JOIN(kernels_, LEAFGRAD_ISA);
const Kernels LG_JOIN(kernels_, LEAFGRAD_ISA) = {
    LG_TEXT(LEAFGRAD_ISA),
    Lanes::width,
    route,
    route_alone,
    {walk_diagonal<1>, walk_diagonal<2>, walk_diagonal<3>, walk_diagonal<4>},
    {walk_general<1>, walk_general<2>},
    {walk_alone<1>, walk_alone<2>},
    walk_value,
    {walk_corners<2, false>, walk_corners<4, false>},
    walk_corners<2, true>,
    walk_polynomials,
    look_up,
    stride,
};

}  // namespace leafgrad
