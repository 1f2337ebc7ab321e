import Testing

@testable import TimerService

/// Quantiles of histograms.
struct HistogramTests {
    private func histogram(_ values: Double...) -> Histogram {
        var histogram = Histogram(bounds: [1, 10, 100])
        for value in values { histogram.observe(value) }
        return histogram
    }

    @Test func `a quantile is interpolated within its bucket`() {
        let four = histogram(2, 3, 4, 5)
        #expect(four.quantile(0.5) == 5.5)
        #expect(four.quantile(1) == 10)
        #expect(four.quantile(0) == 1)
        #expect(histogram(0.5, 0.5).quantile(0.5) == 0.5)
        #expect(histogram(0.5, 50).quantile(0.5) == 1)
        #expect(histogram(0.5, 50).quantile(0.75) == 55)
    }

    @Test func `beyond the last bound a quantile is that bound`() {
        #expect(histogram(1000).quantile(0.5) == 100)
        #expect(histogram(0.5, 1000).quantile(0.99) == 100)
    }

    @Test func `nothing has no quantile`() {
        #expect(histogram().quantile(0.5) == nil)
        #expect(Histogram(bounds: []).quantile(0.5) == nil)
    }

    @Test func `what was added since is a histogram of its own`() {
        let earlier = histogram(0.5, 50)
        var later = earlier
        later.observe(5)
        let added = later.since(earlier)
        #expect((added.counts, added.total, added.sum) == ([0, 1, 0, 0], 1, 5))
        #expect(earlier.since(earlier).quantile(0.5) == nil)
    }
}
