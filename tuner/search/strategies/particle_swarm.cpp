// Particle swarm optimisation (Kennedy and Eberhart 1995; inertia and pulls as Clerc and Kennedy 2002): particles fly
// towards the best that they, and all of them, have seen.
#include "tuner/search/strategies/continuous.hpp"
#include "tuner/search/strategies/make.hpp"
#include "tuner/search/strategies/table_strategy.hpp"

#include <limits>

namespace stencil_tune {
namespace {

constexpr std::size_t kParticles = 16;
constexpr double kInertia = 0.73;
constexpr double kPull = 1.5;  // towards its own best, and towards that of all

struct Particle {
  Point at;
  Point velocity;
  Point best;
  double best_time = std::numeric_limits<double>::infinity();
};

class ParticleSwarm : public OneByOne {
 public:
  using OneByOne::OneByOne;

  std::string_view name() const override { return "particle-swarm"; }

 private:
  Configuration next() override {
    if (particles_.size() < kParticles) {
      const Configuration start = anywhere();
      const Point at = point_of(table(), start);
      particles_.push_back({at, Point(at.size(), 0.0), at});
      moving_ = particles_.size() - 1;
      return start;
    }
    moving_ = (moving_ + 1) % kParticles;
    Particle& particle = particles_[moving_];
    const Point all = known().best() ? point_of(table(), *known().best()) : particle.best;
    for (std::size_t i = 0; i < all.size(); ++i) {
      particle.velocity[i] = kInertia * particle.velocity[i] + kPull * uniform() * (particle.best[i] - particle.at[i]) +
                             kPull * uniform() * (all[i] - particle.at[i]);
      particle.at[i] += particle.velocity[i];
    }
    clamp_to(table(), particle.at);
    return configuration_at(table(), particle.at);
  }

  void told(Configuration configuration, double time_ms) override {
    Particle& particle = particles_[moving_];
    if (time_ms < particle.best_time) particle.best_time = time_ms, particle.best = point_of(table(), configuration);
  }

  void stuck() override { particles_.clear(); }

  std::vector<Particle> particles_;
  std::size_t moving_ = 0;
};

}  // namespace

std::unique_ptr<TableSearch> make_particle_swarm(const ConfigurationTable& table, std::uint64_t seed) {
  return std::make_unique<ParticleSwarm>(table, seed);
}

}  // namespace stencil_tune
