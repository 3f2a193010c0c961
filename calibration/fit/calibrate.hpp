// Samples and an old profile in, a new profile out: with what changed, what the change is worth on samples
// that the fit has not seen, which samples do not belong to the rest, and how wide intervals must be.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibration/fit/processes.hpp"
#include "calibration/fit/profile_fit.hpp"
#include "calibration/fit/wires.hpp"

namespace wirewise {

struct ErrorRow {
    std::string kind;
    int n = 0;
    double mean = 0, median = 0, worst = 0;  // of absolute relative errors
};

struct Outlier {
    std::string id;
    double error = 0;  // of the fitted profile
};

// What measured steps say of a runtime besides their times; nothing is fitted to it.
struct RuntimeSamples {
    std::vector<double> allocated, reserved, device_used;  // errors of its memory, predicted / measured - 1
    int races = 0, as_expected = 0;         // of its peaks that a race decides: those that went as expected
    std::vector<double> tokens, sequences;  // of its timed steps' micro-batches
};

// One sample by itself; `unseen`: the mean size of its errors by fits without one of its groups.
struct SampleError {
    std::string id, kind;
    double seconds = 0;  // measured
    double before = 0, fitted = 0, unseen = 0, weight = 1;
};

struct CalibrationSamples {
    std::vector<Observation> times;
    std::map<std::string, RuntimeSamples> runtimes;
    std::vector<WireSample> wires;
    std::map<std::string, int> contending;  // transports whose contention `times` observe: their channels
    std::vector<ProcessSample> processes;
    std::string source, date;       // of the samples, for the origins
    std::vector<std::string> held;  // pointers below which the profile stays as it is
};

struct Calibration {
    Json profile;
    std::vector<ErrorRow> before, after;  // held out: by the old profile, by fits without the sample's group
    std::vector<ErrorRow> fitted;         // by the new profile, all samples seen
    std::vector<FittedTerm> terms;
    std::vector<Outlier> outliers;
    std::vector<SampleError> samples;
    std::string refused;  // why the new profile must not replace the old one; empty: it may
};

// `place` names the old profile in messages.
Calibration calibrate(const Json& old_profile, const std::string& place, const CalibrationSamples& samples);

}  // namespace wirewise
