/** How far tests go: short forms by `npm test`, long explorations by `npm run test:deep`, which sets SIXTABLES_DEEP. */
export const isDeep: boolean = process.env['SIXTABLES_DEEP'] !== undefined

/** @returns so many runs of a property, or fifty times as many by `npm run test:deep` */
export function runs(short: number): number {
  return isDeep ? 50 * short : short
}
