/**
 * Limits of a real Bigtable (known: cloud.google.com/bigtable/quotas; filters: java-bigtable-hbase #2192). Google's emulator has none of
 * them. The client always enforces them, so that a program that works with the emulator also works with an instance.
 */
export const bigtableLimits: {
  readonly [limit in 'cellBytes' | 'filterBytes' | 'readRequestBytes' | 'changesPerCall']: number
} = {
  cellBytes: 100 * 1024 * 1024,
  filterBytes: 20_480,
  /** Bytes of a request for rows (measured by others: googleapis/google-cloud-python #6836). */
  readRequestBytes: 512 * 1024,
  /** Changes in one call, over all its rows. */
  changesPerCall: 100_000,
}
