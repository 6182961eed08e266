struct Stage {
  void (*update)(const Fields& f, const long long (&n)[3], long long x, long long y, long long z, long long t,
                 double* out);
  int outputs;
  int fields[kMostOutputs];  // that it writes
  int layers[kMostOutputs];  // the field whose values each has in the layers that the stage never writes
  long long held[3][2];      // layers that it never writes
};

// Fields of the definition in its order, then spare buffers.
struct Place {
  int along;      // axes along which it varies alone, x 1, y 2 and z 4, or time 8; 0 for the whole grid
  int layers_of;  // place whose held layers it has
};

// A buffer that the launcher takes.
struct Buffer {
  int place;
  bool is_read;
  int next;  // whose buffer stands here in the next launch
};

// A field that is compared, under the name that it has after the step.
struct Result {
  int field;
  int buffer;  // where it stands
  int stage;   // that wrote it
  const char* name;
};
