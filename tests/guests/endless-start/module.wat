;; Loops before any export can be called: in the start function of the module.
(module
  (memory (export "memory") 1)
  (func $start (loop $again (br $again)))
  (func (export "hostile:endless-start/guest#run"))
  (start $start))
