import CLinux

/// Random numbers from the kernel.
public enum KernelRandom {
    /// `count` numbers of 64 random bits.
    public static func words(_ count: Int) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: count)
        let got = unsafe words.withUnsafeMutableBytes { unsafe clinux_random($0.baseAddress, $0.count) }
        precondition(got == 0, "the kernel has random numbers once it has started")
        return words
    }
}
