// One GPU as the driver's management library (NVML) sees it: what is in use, by whom. Loaded where there is
// one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/units/quantity.hpp"

namespace wirewise::cuda {

int device_count();  // 0 where there is no driver
std::string device_name(int device);
std::vector<std::pair<std::string, std::string>> library_versions();

class DeviceWatch {
  public:
    explicit DeviceWatch(int device);
    ~DeviceWatch();
    DeviceWatch(const DeviceWatch&) = delete;
    DeviceWatch& operator=(const DeviceWatch&) = delete;

    // In use on the whole device by all processes; without NVML, what the runtime says.
    Bytes used() const;
    Bytes free() const;
    // "process 4711 holds 70.1 GiB", for people; empty where nothing is known.
    std::string holders() const;

  private:
    struct Nvml;
    std::unique_ptr<Nvml> nvml_;
    void* handle_ = nullptr;
};

}  // namespace wirewise::cuda
