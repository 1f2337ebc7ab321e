/// Where a timer is kept: an index into the table's slab.
public typealias SlotIndex = UInt32
