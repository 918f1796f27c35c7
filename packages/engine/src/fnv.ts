/** FNV-1a, 32 bits: a fast hash of short texts and bytes. Stored scatter values (tables/scatter.ts) depend on it. */

export const fnvStart = 0x811c9dc5
const prime = 0x01000193

/** @param unit - at most 32 bits */
export function fnvStep(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, prime)
}

/** The hash of a text's UTF-16 units, as a signed number, starting with `start`. */
export function fnv(text: string, start: number = fnvStart): number {
  let hash = start
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), prime)
  return hash
}
