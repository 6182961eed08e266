"""What `bench/bench where-energy-goes` makes of made-up counters of a kernel, whose sums are known."""

# 100 updates, each with 2 multiply-adds by a uniform factor, one of three registers, a shuffle, a move that half of the
# lanes make, 16 bytes of shared memory read, and 4 bytes of DRAM read and written.
SOURCE = '''"Kernel Name","kernel",
"Address","Source","Predicated-On Thread Instructions Executed"
"0","      DFMA R2, R4, UR6, R2 ","200"
"16","      DFMA R2, R4.reuse, R8, R2 ","100"
"32","      SHFL.UP PT, R4, R4, 0x1, RZ ","100"
"48","@!P0   IMAD.MOV.U32 R1, RZ, RZ, R2 ","50"
"64","      LDS.128 R4, [R9] ","100"
"80","@!UP0 UIADD3 UR4, UR4, 0x1, URZ ","3"
"96","@P1   BRA `(.L_1) ","100"
'''
RAW = '''"ID","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum"
"","Kbyte","byte","us"
"0","0.4","400","1"
'''
# 2 x 31 + 44 + 34.3 + 17 / 2 + 16 x 3.7 + 4 x 46.3 + 4 x 75.9 = 696.8
SUMS = """kernel: 697 pJ an update, 818 GStencil/s at 700 W
  DRAM written              4.00 an update      304 pJ
  DRAM read                 4.00 an update      185 pJ
  f64, uniform factor       2.00 an update       62 pJ
  shared memory read       16.00 an update       59 pJ
  f64, registers            1.00 an update       44 pJ
  shuffles                  1.00 an update       34 pJ
  others                    0.50 an update        8 pJ
"""


def test_adds_up_what_a_kernel_spends(bench):
    bench.write("kernel.source.csv", SOURCE)
    bench.write("kernel.raw.csv", RAW)
    assert bench.run("where-energy-goes", "--limit", "700", "--asleep", "130", "100", "kernel") == (0, SUMS)
