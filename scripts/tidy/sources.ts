/** Rules for code: heads, sizes, and no disabled test without a reason. */
import { type Finding, isShipped, isTest, matches, type SourceFile, withoutComments } from './repository.ts'

export const linesMax = 450

const switchedOff = /\b(?:describe|it|test)\.(?:only|skip|todo|skipIf|runIf)\b/g

/** Every file of code must begin with a comment about its purpose. */
export function headFindings(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(
      ({ path }) =>
        isShipped(path) || /^scripts\/.*\.(mjs|ts)$/.test(path) || /^packages\/[^/]+\/(bin|scripts)\//.test(path),
    )
    .filter(({ path }) => !isTest(path))
    .filter(({ text }) => !/^(#!.*\n)?\/\*\*/.test(text))
    .map(({ path }) => `${path}:1 has no head comment: what it is, the shape of its data, what always holds`)
}

export function sizeFindings(files: readonly SourceFile[]): Finding[] {
  return code(files)
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > linesMax)
    .map(({ path, lines }) => `${path} has ${lines} lines; the most is ${linesMax}: look for the second idea in it`)
}

/** Maximum lines of a function, first and last line included: one screen. */
export const functionLinesMax = 60

/** Where functions may be longer: a scenario is read from its beginning to its end. */
const scenarios = 'packages/bench/src/labs/'

/** The first line of a function, a method, or a constant with a function. */
const functionHead =
  /^(\s*)(?:(?:(?:export|async)\s+)*function\b\s*\*?\s*(\w+)|(?:(?:static|override|async|get|set)\s+)*\*?(#?\w+)(?:<[^(]*>)?\(|(?:export\s+)?const\s+(\w+)\b.*=\s*(?:async\s*)?[(<])/
const notNames = new Set(['if', 'for', 'while', 'switch', 'catch', 'return', 'await', 'super', 'throw', 'new'])

/** Finds functions by the formatter's indentation: a function ends with the brace below the beginning of its first line. */
export function longFunctionFindings(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => (isShipped(path) && !path.startsWith(scenarios)) || /^(tools|scripts)\//.test(path))
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, text }) =>
      functionsOf(text.split('\n'))
        .filter(({ lines }) => lines > functionLinesMax)
        .map(({ name, line, lines }) => `${path}:${line} ${name} has ${lines} lines; the most is ${functionLinesMax}`),
    )
}

interface FoundFunction {
  readonly name: string
  readonly line: number
  readonly lines: number
}

function functionsOf(lines: readonly string[]): readonly FoundFunction[] {
  const found: FoundFunction[] = []
  for (const [start, head] of lines.entries()) {
    const [, indent = '', declared, method, constant] = functionHead.exec(head) ?? []
    const name = declared ?? method ?? constant
    if (name === undefined || notNames.has(name)) continue
    // Parameters may have lines of their own; with another ending it is a call.
    const isUnder = (line: string): boolean => line.startsWith(indent) && /\S/.test(line.charAt(indent.length))
    const body = head.endsWith('{') ? start : lines.findIndex((line, i) => i > start && isUnder(line))
    const opens =
      body === start ? method === undefined || !head.includes('=> {') : /^\s*\).*\{$/.test(lines[body] ?? '')
    if (!opens) continue
    const end = lines.findIndex((line, i) => i > body && line.startsWith(`${indent}}`))
    found.push({ name, line: start + 1, lines: end - start + 1 })
  }
  return found
}

/** Refuses `.only`, and a disabled test without a reason, as its second argument or in a comment on its line or the one above. */
export function switchedOffFindings(files: readonly SourceFile[]): Finding[] {
  return code(files)
    .filter(({ path }) => isTest(path))
    .flatMap(({ path, text }) => {
      const lines = text.split('\n')
      return matches(path, withoutComments(text), switchedOff, (found) => found).filter((finding) => {
        const line = Number(/:(\d+) /.exec(finding)?.[1])
        const reason =
          [lines[line - 2], lines[line - 1]].some((near) => near?.includes('//')) ||
          /\.skip\(.*, '.+'\)$/.test(lines[line - 1] ?? '')
        return !reason || finding.endsWith('.only')
      })
    })
    .map((finding) => `${finding} without a reason`)
}

function code(files: readonly SourceFile[]): readonly SourceFile[] {
  return files.filter(({ path }) => /\.(tsx?|mjs|js)$/.test(path))
}
