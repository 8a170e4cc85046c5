// Items of work over threads made for this call, with exceptions and Ctrl-C carried back to the caller.
//
// The calling thread works too, and is the only one that calls `poll`. No thread outlives the call: a pool that did
// would be gone in a forked child.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace leafgrad {

// Told the rows done so far, about ten times a second; an exception from it stops the work.
using Poll = std::function<void(std::int64_t rows_done)>;

// Lets a long item notice that the work is to stop. Call it with the work done since, in splits x lanes: the clock is
// looked at every millisecond or so.
class Pulse {
public:
    Pulse(const std::atomic<bool>& stop, const std::atomic<std::int64_t>& done, const Poll* poll)
        : stop_(stop),
          done_(done),
          poll_(poll) {}
    void operator()(std::int64_t work = a_look) {
        left_ -= work;
        if (left_ <= 0) look();
    }

private:
    static constexpr std::int64_t a_look = 2'000'000;
    void look();

    std::int64_t left_ = 0;
    const std::atomic<bool>& stop_;
    const std::atomic<std::int64_t>& done_;
    const Poll* poll_;  // the calling thread's alone
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// body(item, worker, pulse) returns the rows it has done.
using Body = std::function<std::int64_t(std::int64_t item, int worker, Pulse& pulse)>;

void parallel(std::int64_t n_items, int threads, const Body& body, const Poll& poll);

}  // namespace leafgrad
