/**
 * JSON values as text for people, two blanks a level. A member or an element with room in `lineMax` characters stands on one line.
 *
 *   jsonText({ a: [1] })   {⏎  "a": [⏎    1⏎  ]⏎}          jsonText({ a: [1] }, 100)   {⏎  "a": [1]⏎}
 *
 * Negative zero stays `-0.0`: as `0` it would be another double.
 */
export function jsonText(value: unknown, lineMax = 0, indent = ''): string {
  const inner = `${indent}  `
  const print = (one: unknown): string => {
    const line = lineMax === 0 ? undefined : onLine(one)
    return line !== undefined && line.length <= lineMax ? line : jsonText(one, lineMax, inner)
  }
  return laidOut(value, print, (parts) => `\n${inner}${parts.join(`,\n${inner}`)}\n${indent}`)
}

function onLine(value: unknown): string {
  return laidOut(value, onLine, (parts, isList) => (isList ? parts.join(', ') : ` ${parts.join(', ')} `))
}

type Join = (parts: readonly string[], isList: boolean) => string

function laidOut(value: unknown, print: (one: unknown) => string, join: Join): string {
  if (value === null || typeof value !== 'object')
    return Object.is(value, -0) ? '-0.0' : (JSON.stringify(value) ?? 'null')
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map(print)
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${print(member)}`)
  const [open, close] = isList ? '[]' : '{}'
  return parts.length === 0 ? `${open}${close}` : `${open}${join(parts, isList)}${close}`
}
