// Every built-in machine: it loads, and its all-reduce of 1 GiB over all GPUs stays what it was when somebody
// last looked. tests/collectives/data/built_in_all_reduce.json holds the figures in GB/s of bus bandwidth,
// once as NCCL chooses and once without in-switch reduction, and next to them what was published for such a
// machine.
//
// After a change that is meant to move figures, or a new machine:
//     WIREWISE_UPDATE_GOLDEN=1 build/default/tests/collectives/test_collectives --gtest_filter='BuiltIn*'
// rewrites the predictions and keeps the published rows and notes; read the difference before committing it,
// and note at a row why it moved.
#include "tests/collectives/golden.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "model/collectives/pricer.hpp"
#include "model/topology/built_in.hpp"
#include "model/units/text.hpp"
#include "tests/collectives/boxes.hpp"

namespace wirewise::test {
namespace {

double predicted(const std::string& machine_name, int gpus, Bytes bytes, bool nvls) {
    const Machine machine = *built_in_machine(machine_name);
    NcclEnvironment environment;
    environment.nvls = nvls;
    const CollectivePricer pricer(machine, environment, group(first(gpus > 0 ? gpus : machine.gpu_count())));
    return pricer.price(CollectiveKind::all_reduce, bytes).busbw.value() / 1e9;
}

GoldenFigure figure_of(const std::string& machine) {
    return {machine, predicted(machine, 0, 1_GiB, true), predicted(machine, 0, 1_GiB, false), {}, {}};
}

TEST(BuiltInMachines, KeepTheirAllReduceFigure) {
    std::vector<GoldenFigure> golden = read_golden();
    if (std::getenv("WIREWISE_UPDATE_GOLDEN") != nullptr) {
        std::vector<GoldenFigure> now;
        for (const std::string& name : built_in_machine_names()) {
            now.push_back(figure_of(name));
            for (const GoldenFigure& figure : golden)
                if (figure.machine == name)
                    now.back().published = figure.published, now.back().note = figure.note;
        }
        write_golden(now);
        GTEST_SKIP() << "rewritten: read the difference";
    }
    const std::vector<std::string> names = built_in_machine_names();
    ASSERT_EQ(golden.size(), names.size()) << "a machine without its figure, or a figure without its machine";
    for (std::size_t i = 0; i < golden.size(); ++i) {
        ASSERT_EQ(golden[i].machine, names[i]);
        const GoldenFigure now = figure_of(names[i]);
        EXPECT_NEAR(now.as_chosen / golden[i].as_chosen, 1, 0.01) << names[i];
        EXPECT_NEAR(now.nvls_off / golden[i].nvls_off, 1, 0.01) << names[i] << ", NVLS off";
    }
}

TEST(BuiltInMachines, AreNearWhatWasPublishedForThem) {
    int published = 0;
    for (const GoldenFigure& figure : read_golden())
        for (const PublishedFigure& run : figure.published) {
            EXPECT_FALSE(run.source.empty()) << figure.machine;
            const double now =
                predicted(figure.machine, run.gpus, parse_bytes(run.bytes, "golden"), run.nvls);
            EXPECT_NEAR(now / run.busbw, 1, 0.18) << figure.machine << ", " << run.source << ": " << now;
            ++published;
        }
    EXPECT_GE(published, 12);
}

}  // namespace
}  // namespace wirewise::test
