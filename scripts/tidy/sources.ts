/**
 * Rules for code: heads, sizes, no way out of the type system, no ambient time or chance, no test switched off in silence.
 */
import { type Finding, isShipped, isTest, matches, type SourceFile, withoutComments } from './repository.ts'

export const linesMax = 450

/** Where time and chance are passed in, so that all of it can run on virtual time and from a seed. */
const simulated = /^packages\/(engine\/src|gateway\/src\/handlers|bench\/src\/(sim|labs))\//
const sourcesOfTime = new Set([
  'packages/engine/src/clock.ts',
  'packages/engine/src/random.ts',
  'packages/engine/src/testing/virtual-clock.ts',
])

const ambient =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bset(?:Timeout|Interval|Immediate)\b|\bMath\.random\b|\bqueueMicrotask\b|\bnextTick\b|\bhrtime\b|\brandom(?:UUID|Bytes|Int)\b/g

const escapes = /\bas any\b|: any\b|<any\b|@ts-(?:ignore|nocheck)\b/g

const switchedOff = /\b(?:describe|it|test)\.(?:only|skip|todo|skipIf|runIf)\b/g

/** Every written file of code starts by saying what it is. */
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

export function ambientFindings(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => simulated.test(path) && !isTest(path) && !sourcesOfTime.has(path))
    .flatMap(({ path, text }) =>
      matches(
        path,
        withoutComments(text),
        ambient,
        (found) => `uses ${found}: take time and chance from what is passed in`,
      ),
    )
}

export function escapeFindings(files: readonly SourceFile[]): Finding[] {
  const packages = code(files).filter(({ path }) => path.startsWith('packages/'))
  return packages.flatMap(({ path, text }) => [
    ...matches(path, withoutComments(text), escapes, (found) => `leaves the type system: ${found}`),
    ...matches(path, text, /\/\/ *@ts-(?:ignore|nocheck)\b/g, (found) => `leaves the type system: ${found}`),
  ])
}

/** `.only` never; a test switched off gives its reason: as second argument, or in a comment on its line or the one above. */
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
  return files.filter(({ path }) => /\.(ts|mjs|js)$/.test(path))
}
