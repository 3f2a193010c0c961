#include "model/program/program.hpp"
