/** A value in words, about as Node's `util` has it. */
export function inspect(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return `[ ${value.map(inspect).join(', ')} ]`
  if (typeof value !== 'object' || value === null || value instanceof Date) return String(value)
  const members = Object.entries(value).map(([name, one]) => `${name}: ${inspect(one)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
