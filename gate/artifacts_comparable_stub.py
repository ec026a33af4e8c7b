def comparable(a, b): return ()
