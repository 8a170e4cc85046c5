#include "parallel.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace leafgrad {
namespace {

constexpr auto between_polls = std::chrono::milliseconds(100);

struct Stopped {};  // thrown through an item when another has failed

}  // namespace

void Pulse::look() {
    left_ = a_look;
    if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
    if (poll_ == nullptr) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < between_polls) return;
    last_ = now;
    (*poll_)(done_.load(std::memory_order_relaxed));
}

void parallel(std::int64_t n_items, int threads, const Body& body, const Poll& poll) {
    std::atomic<std::int64_t> next{0}, done{0};
    std::atomic<bool> stop{false};
    std::mutex mutex;
    std::condition_variable finished;
    std::exception_ptr failure;
    int working = 0;

    const auto fail = [&] {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        stop = true;
    };
    const auto work = [&](int worker, Pulse pulse) {
        try {
            for (std::int64_t item; (item = next.fetch_add(1)) < n_items;) {
                pulse();
                done += body(item, worker, pulse);
            }
        } catch (const Stopped&) {
        } catch (...) {
            fail();
        }
    };

    std::vector<std::thread> crew;
    const int helpers = static_cast<int>(std::clamp<std::int64_t>(n_items, 1, std::max(threads, 1))) - 1;
    crew.reserve(static_cast<std::size_t>(helpers));
    working = helpers;
    for (int worker = 1; worker <= helpers; ++worker) {
        const auto run = [&, worker] {
            work(worker, Pulse(stop, done, nullptr));
            const std::lock_guard lock(mutex);
            --working;
            finished.notify_one();
        };
        try {
            crew.emplace_back(run);
        } catch (const std::system_error&) {  // the system gives no more threads: go on with those there are
            const std::lock_guard lock(mutex);
            working -= helpers - worker + 1;
            break;
        }
    }
    work(0, Pulse(stop, done, &poll));
    // The others may be on their last items for a while: Ctrl-C must reach them.
    for (std::unique_lock lock(mutex); working > 0;) {
        if (finished.wait_for(lock, between_polls) == std::cv_status::timeout && !stop) {
            lock.unlock();
            try {
                poll(done);
            } catch (...) {
                fail();
            }
            lock.lock();
        }
    }
    for (std::thread& thread : crew) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace leafgrad
