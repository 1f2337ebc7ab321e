/// Instants of timers are in milliseconds, those of the kernel's clocks in nanoseconds.
let nanosecondsPerMillisecond: Int64 = 1_000_000

/// The end of the year 9999, in wall milliseconds: no later instant can be shown.
let lastInstant: Int64 = 253_402_300_799_999

/// Divides, rounding toward negative infinity. `divisor` is positive.
func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
}
