/**
 * JSON values as text for people, two blanks a level.
 *
 * Negative zero stays `-0.0`: as `0` it would be another double.
 */
export function jsonText(value: unknown, indent = ''): string {
  if (value === null || typeof value !== 'object')
    return Object.is(value, -0) ? '-0.0' : (JSON.stringify(value) ?? 'null')
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map((element) => inner + jsonText(element, inner))
    : Object.entries(value).map(([name, member]) => `${inner}${JSON.stringify(name)}: ${jsonText(member, inner)}`)
  const [open, close] = isList ? '[]' : '{}'
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(',\n')}\n${indent}${close}`
}
