// The Python face of the core: arrays in, arrays out, the GIL released in between. Shapes are checked here, what the
// numbers mean where they are used.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <optional>

#include "attribute.h"
#include "curves.h"
#include "forest.h"
#include "game.h"
#include "greedy.h"
#include "kernels.h"
#include "leaves.h"
#include "probabilistic.h"
#include "rank.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace leafgrad {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OrderMatrix = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using DoubleMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span(const Vector<T>& from) {
    return {from.data(), from.size()};
}

// Arrays that carry their owner: nanobind need tie them to nothing.
constexpr auto owned = nb::rv_policy::automatic;

// A read-only view of memory that `owner` keeps alive.
template <class T>
auto view(const std::vector<T>& of, nb::handle owner, std::initializer_list<std::size_t> shape) {
    return nb::ndarray<nb::numpy, const T>(of.data(), shape, owner);
}
template <class T>
auto view(const std::vector<T>& of, nb::handle owner) {
    return view(of, owner, {of.size()});
}

// A fresh array of zeros that Python owns. calloc: pages of zeros come as they are touched, by the threads that do.
template <class T>
struct Fresh {
    T* data;
    nb::ndarray<nb::numpy, T> array;
    explicit Fresh(std::initializer_list<std::size_t> shape) {
        std::size_t size = 1;
        for (const std::size_t n : shape) size *= n;
        data = static_cast<T*>(std::calloc(size ? size : 1, sizeof(T)));
        if (data == nullptr) throw std::bad_alloc();
        nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
        array = nb::ndarray<nb::numpy, T>(data, shape, owner);
    }
};

Rows rows_of(const Matrix& X, const Forest& forest) {
    Rows rows;
    rows.n = static_cast<std::int64_t>(X.shape(0));
    rows.n_features = static_cast<std::int64_t>(X.shape(1));
    if (rows.n_features != forest.n_features) throw ArgumentError("X does not have the forest's number of features");
    if (X.dtype() == nb::dtype<float>())
        rows.single = static_cast<const float*>(X.data());
    else if (X.dtype() == nb::dtype<double>())
        rows.full = static_cast<const double*>(X.data());
    else
        throw ArgumentError("X must be float32 or float64");
    return rows;
}

Points points_of(const DoubleMatrix& z, const Game& game) {
    if (z.shape(1) != static_cast<std::size_t>(game.n_players)) throw ArgumentError("z must have one column a player");
    return {z.data(), static_cast<std::int64_t>(z.shape(0))};
}

void want_one_output(const Game& game) {
    if (game.n_outputs != 1) throw ArgumentError("the game must have one output");
}

void check_order(const OrderMatrix& order, const Rows& rows, const Game& game) {
    const auto players = static_cast<std::size_t>(game.n_players);
    if (order.shape(0) != static_cast<std::size_t>(rows.n) || order.shape(1) != players)
        throw ArgumentError("order must have one row a row of X and one column a player");
    std::vector<std::size_t> seen(players, 0);
    for (std::size_t i = 0; i < order.shape(0); ++i)
        for (std::size_t j = 0; j < players; ++j) {
            const std::int32_t player = order.data()[i * players + j];
            if (player < 0 || static_cast<std::size_t>(player) >= players ||
                seen[static_cast<std::size_t>(player)] == i + 1)
                throw ArgumentError("order: row " + std::to_string(i) + " is no permutation of the players");
            seen[static_cast<std::size_t>(player)] = i + 1;
        }
}

// Ctrl-C and the progress bar, from the thread that called.
Poll poll_of(const nb::object& progress) {
    return [&progress](std::int64_t done) {
        const nb::gil_scoped_acquire locked;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress.is_none()) progress(done);
    };
}

std::size_t results(const Rows& rows, const Points& points) {
    if (rows.n == 0 || points.n == 0) return 0;
    return static_cast<std::size_t>(std::max(rows.n, points.n));
}

void bind_forest(nb::module_& m) {
    nb::class_<Forest>(m, "Forest")
        .def(
            "__init__",
            [](Forest* self, const Vector<std::int64_t>& tree_start, const Vector<std::int32_t>& left,
               const Vector<std::int32_t>& right, const Vector<std::int32_t>& feature, const Vector<double>& threshold,
               const Vector<std::uint8_t>& flags, const Vector<std::int32_t>& category_set,
               const Vector<std::int64_t>& set_start, const Vector<std::uint32_t>& set_words,
               const Vector<double>& cover, const DoubleMatrix& value, const Vector<std::int32_t>& tree_output,
               std::int32_t n_features, std::int32_t n_outputs, bool single,
               const std::optional<DoubleMatrix>& root_mean) {
                ForestArrays arrays;
                arrays.tree_start = span(tree_start);
                arrays.left = span(left);
                arrays.right = span(right);
                arrays.feature = span(feature);
                arrays.threshold = span(threshold);
                arrays.flags = span(flags);
                arrays.category_set = span(category_set);
                arrays.set_start = span(set_start);
                arrays.set_words = span(set_words);
                arrays.cover = span(cover);
                arrays.value = {value.data(), value.size()};
                arrays.tree_output = span(tree_output);
                if (root_mean) arrays.root_mean = {root_mean->data(), root_mean->size()};
                arrays.n_features = n_features;
                arrays.n_outputs = n_outputs;
                arrays.width = static_cast<std::int32_t>(value.shape(1));
                arrays.single = single;
                const nb::gil_scoped_release unlocked;
                new (self) Forest(arrays);
            },
            nb::kw_only(), "tree_start"_a, "left"_a, "right"_a, "feature"_a, "threshold"_a, "flags"_a, "category_set"_a,
            "set_start"_a, "set_words"_a, "cover"_a, "value"_a, "tree_output"_a, "n_features"_a, "n_outputs"_a,
            "single"_a, "root_mean"_a = nb::none())
        .def_prop_ro(
            "tree_start", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).tree_start, h); }, owned)
        .def_prop_ro(
            "left", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).left, h); }, owned)
        .def_prop_ro(
            "right", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).right, h); }, owned)
        .def_prop_ro(
            "feature", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).feature, h); }, owned)
        .def_prop_ro(
            "threshold", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).threshold, h); }, owned)
        .def_prop_ro(
            "flags", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).flags, h); }, owned)
        .def_prop_ro(
            "category_set", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).category_set, h); }, owned)
        .def_prop_ro(
            "set_start", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).set_start, h); }, owned)
        .def_prop_ro(
            "set_words", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).set_words, h); }, owned)
        .def_prop_ro(
            "share", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).share, h); }, owned)
        .def_prop_ro(
            "tree_output", [](nb::handle_t<Forest> h) { return view(nb::cast<Forest&>(h).tree_output, h); }, owned)
        .def_prop_ro(
            "value",
            [](nb::handle_t<Forest> h) {
                const auto& f = nb::cast<Forest&>(h);
                return view(f.value, h, {f.left.size(), static_cast<std::size_t>(f.width)});
            },
            owned)
        .def_prop_ro(
            "root_mean",
            [](nb::handle_t<Forest> h) {
                const auto& f = nb::cast<Forest&>(h);
                return view(f.root_mean, h, {f.tree_output.size(), static_cast<std::size_t>(f.width)});
            },
            owned)
        .def_ro("n_features", &Forest::n_features)
        .def_ro("n_outputs", &Forest::n_outputs)
        .def_ro("n_leaves", &Forest::n_leaves)
        .def_ro("max_depth", &Forest::max_depth)
        .def_ro("single", &Forest::single)
        .def_prop_ro("n_trees", &Forest::n_trees)
        .def(
            "leaves",
            [](const Forest& forest, const Matrix& X, int threads, const nb::object& progress) {
                const Rows rows = rows_of(X, forest);
                Fresh<std::int32_t> out({X.shape(0), static_cast<std::size_t>(forest.n_trees())});
                const Poll poll = poll_of(progress);
                const nb::gil_scoped_release unlocked;
                leaves(forest, rows, out.data, threads, poll);
                return std::move(out.array);
            },
            "X"_a, "threads"_a = 1, "progress"_a = nb::none())
        .def(
            "predict",
            [](const Forest& forest, const Matrix& X, int threads, const nb::object& progress) {
                const Rows rows = rows_of(X, forest);
                Fresh<double> out({X.shape(0), static_cast<std::size_t>(forest.n_outputs)});
                const Poll poll = poll_of(progress);
                const nb::gil_scoped_release unlocked;
                predict(forest, rows, out.data, threads, poll);
                return std::move(out.array);
            },
            "X"_a, "threads"_a = 1, "progress"_a = nb::none());
}

void bind_game(nb::module_& m) {
    nb::class_<Game>(m, "Game")
        .def(
            "__init__",
            [](Game* self, const Forest& forest, const Vector<std::int32_t>& player, std::int32_t n_players,
               const Vector<std::int32_t>& outputs) {
                const auto players = span(player), chosen = span(outputs);
                const nb::gil_scoped_release unlocked;
                new (self) Game(forest, players, n_players, chosen);
            },
            "forest"_a, "player"_a, "n_players"_a, "outputs"_a, nb::keep_alive<1, 2>())
        .def_ro("n_players", &Game::n_players)
        .def_ro("n_outputs", &Game::n_outputs)
        .def_prop_ro(
            "most_players",
            [](const Game& game) {
                Fresh<std::int32_t> out({static_cast<std::size_t>(game.forest.n_trees())});
                for (std::size_t i = 0; i < game.trees.size(); ++i)
                    out.data[game.tree_of[i]] = game.trees[i].most_players;
                return std::move(out.array);
            },
            owned)
        .def(
            "attribute",
            [](const Game& game, const Matrix& X, const Vector<std::int64_t>& rule_start, const Vector<double>& nodes,
               const Vector<double>& weights, std::optional<std::int64_t> rows_in_all, int threads,
               const nb::object& progress) {
                const Rows rows = rows_of(X, game.forest);
                const Rules rules{span(rule_start), span(nodes), span(weights)};
                Fresh<double> out(
                    {X.shape(0), static_cast<std::size_t>(game.n_players), static_cast<std::size_t>(game.n_outputs)});
                const Poll poll = poll_of(progress);
                const nb::gil_scoped_release unlocked;
                attribute(game, rows, rules, out.data, {threads, poll}, rows_in_all.value_or(rows.n));
                return std::move(out.array);
            },
            "X"_a, "rule_start"_a, "nodes"_a, "weights"_a, "rows_in_all"_a = nb::none(), "threads"_a = 1,
            "progress"_a = nb::none())
        .def(
            "gradient",
            [](const Game& game, const Matrix& X, const DoubleMatrix& z, int threads, const nb::object& progress) {
                const Rows rows = rows_of(X, game.forest);
                const Points points = points_of(z, game);
                Fresh<double> out({results(rows, points), static_cast<std::size_t>(game.n_players),
                                   static_cast<std::size_t>(game.n_outputs)});
                const Poll poll = poll_of(progress);
                const nb::gil_scoped_release unlocked;
                gradient(game, rows, points, out.data, {threads, poll});
                return std::move(out.array);
            },
            "X"_a, "z"_a, "threads"_a = 1, "progress"_a = nb::none())
        .def(
            "extension",
            [](const Game& game, const Matrix& X, const DoubleMatrix& z, int threads, const nb::object& progress) {
                const Rows rows = rows_of(X, game.forest);
                const Points points = points_of(z, game);
                Fresh<double> out({results(rows, points), static_cast<std::size_t>(game.n_outputs)});
                const Poll poll = poll_of(progress);
                const nb::gil_scoped_release unlocked;
                extension(game, rows, points, out.data, {threads, poll});
                return std::move(out.array);
            },
            "X"_a, "z"_a, "threads"_a = 1, "progress"_a = nb::none())
        .def(
            "rank",
            [](const Game& game, const Matrix& X, std::int64_t steps, double rate, bool adam, double beta1,
               double beta2, double eps, bool eps_inside, bool trace, int threads, const nb::object& progress) {
                const Rows rows = rows_of(X, game.forest);
                want_one_output(game);
                if (steps < 1) throw ArgumentError("steps must be at least 1");
                const Optimizer optimizer{steps, rate, adam, beta1, beta2, eps, eps_inside};
                const auto players = static_cast<std::size_t>(game.n_players);
                Fresh<double> zeta({X.shape(0), players}), z({X.shape(0), players});
                std::optional<Fresh<double>> path;
                if (trace)
                    path.emplace(std::initializer_list<std::size_t>{X.shape(0), static_cast<std::size_t>(steps) + 1});
                const Poll poll = poll_of(progress);
                {
                    const nb::gil_scoped_release unlocked;
                    rank(game, rows, optimizer, zeta.data, z.data, path ? path->data : nullptr, {threads, poll});
                }
                const nb::object traced = path ? nb::cast(std::move(path->array)) : nb::none();
                return nb::make_tuple(std::move(zeta.array), std::move(z.array), traced);
            },
            "X"_a, nb::kw_only(), "steps"_a, "rate"_a, "adam"_a, "beta1"_a, "beta2"_a, "eps"_a, "eps_inside"_a,
            "trace"_a, "threads"_a = 1, "progress"_a = nb::none())
        .def(
            "greedy",
            [](const Game& game, const Matrix& X, int threads, const nb::object& progress) {
                const Rows rows = rows_of(X, game.forest);
                want_one_output(game);
                Fresh<std::int32_t> order({X.shape(0), static_cast<std::size_t>(game.n_players)});
                const Poll poll = poll_of(progress);
                const nb::gil_scoped_release unlocked;
                greedy(game, rows, order.data, {threads, poll});
                return std::move(order.array);
            },
            "X"_a, nb::kw_only(), "threads"_a = 1, "progress"_a = nb::none())
        .def(
            "curves",
            [](const Game& game, const Matrix& X, const OrderMatrix& order, int threads, const nb::object& progress) {
                const Rows rows = rows_of(X, game.forest);
                check_order(order, rows, game);
                const std::size_t n = X.shape(0), points = static_cast<std::size_t>(game.n_players) + 1,
                                  outputs = static_cast<std::size_t>(game.n_outputs);
                Fresh<double> insertion({n, points, outputs}), deletion({n, points, outputs});
                const Poll poll = poll_of(progress);
                {
                    const nb::gil_scoped_release unlocked;
                    curves(game, rows, order.data(), insertion.data, deletion.data, {threads, poll});
                }
                return nb::make_tuple(std::move(insertion.array), std::move(deletion.array));
            },
            "X"_a, "order"_a, nb::kw_only(), "threads"_a = 1, "progress"_a = nb::none());
}

void bind_closed_game(nb::module_& m) {
    nb::class_<ClosedGame>(m, "ClosedGame")
        .def(
            "__init__",
            [](ClosedGame* self, const Game& game) {
                const nb::gil_scoped_release unlocked;
                new (self) ClosedGame(game);
            },
            "game"_a, nb::keep_alive<1, 2>())
        .def(
            "probabilistic",
            [](const ClosedGame& closed, const Matrix& X, const Vector<std::int64_t>& start,
               const Vector<double>& probabilities, int threads, const nb::object& progress) {
                const Game& game = closed.game;
                const Rows rows = rows_of(X, game.forest);
                const Sizes sizes{span(start), span(probabilities)};
                Fresh<double> out(
                    {X.shape(0), static_cast<std::size_t>(game.n_players), static_cast<std::size_t>(game.n_outputs)});
                const Poll poll = poll_of(progress);
                const nb::gil_scoped_release unlocked;
                probabilistic(closed, rows, sizes, out.data, {threads, poll});
                return std::move(out.array);
            },
            "X"_a, "start"_a, "probabilities"_a, "threads"_a = 1, "progress"_a = nb::none());
}

// Our exceptions as the classes of leafgrad.errors.
void bind_errors() {
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        const auto raise = [](const char* name, const char* what) {
            nb::object type = nb::module_::import_("leafgrad.errors").attr(name);
            PyErr_SetString(type.ptr(), what);
        };
        try {
            std::rethrow_exception(p);
        } catch (const FormatError& e) {
            raise("ModelFormatError", e.what());
        } catch (const ArgumentError& e) {
            raise("InputError", e.what());
        }
    });
}

}  // namespace
}  // namespace leafgrad

NB_MODULE(_core, m) {
    using namespace leafgrad;
    nb::set_leak_warnings(false);  // forests may be kept in a module's globals until the interpreter ends
    bind_errors();
    bind_forest(m);
    bind_game(m);
    bind_closed_game(m);
    m.def("isa", [] { return std::string(kernels().name); });
    m.def("available_isas", [] {
        std::vector<std::string> names;
        for (auto k = available_kernels(); *k; ++k) names.emplace_back((*k)->name);
        return names;
    });
    m.def(
        "use_isa", [](const std::string& name) { use_kernels(name.empty() ? nullptr : name.c_str()); }, "name"_a = "");
    // A name that does not exist here is an error at import, not a silent other kernel.
    if (const char* isa = std::getenv("LEAFGRAD_ISA"); isa != nullptr && *isa != '\0') use_kernels(isa);
}
