// Options of one verb: parsing, help, and errors that say what was meant.
#pragma once

#include "tuner/commands/command.hpp"

#include <boost/program_options.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stencil_tune {

namespace po = boost::program_options;

class CommandLine {
 public:
  /// usage: "stencil-tune tune --dims 512 [options]"; what: a paragraph a line, which may be long; examples: lines of
  /// "  command   comment".
  CommandLine(std::string usage, std::string what, std::string examples);

  /// The group of options with this title; valid as long as this object.
  po::options_description& group(const std::string& title);

  /// Words that are no options: `name` takes up to `most` of them (-1: any number).
  void positional(const char* name, int most);

  /// Nothing when help was asked for and printed. Throws Error(invalid_argument or unknown_name).
  std::optional<po::variables_map> parse(const Arguments& arguments);

 private:
  std::string help_text(const po::options_description& visible, const po::options_description& help) const;

  std::string usage_;
  std::string what_;
  std::string examples_;
  std::vector<std::pair<std::string, std::unique_ptr<po::options_description>>> groups_;  ///< with their titles
  po::options_description hidden_;
  po::positional_options_description positional_;
};

/// "a,b" as {"a", "b"}: what an option names that takes several values.
std::vector<std::string> split_list(std::string_view text);

}  // namespace stencil_tune
