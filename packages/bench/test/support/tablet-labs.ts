/** Labs that take long enough to be tested on a core of their own. */
export const tabletLabs: readonly string[] = ['sequential-keys', 'monotonic-index', 'ramp-500-50-5']
