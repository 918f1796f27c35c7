/**
 * Rules that are patterns: each match in a file of such a path is a finding.
 *
 *   ambientFindings(files)    packages/engine/src/x.ts:12 uses Date.now: take time and chance from what is passed in
 */
import { type Finding, isTest, matches, type SourceFile, withoutComments } from './repository.ts'

interface PatternRule {
  readonly where: (path: string) => boolean
  readonly pattern: RegExp
  readonly says: (found: string) => string
  /** The part of a text that the rule is about; default: all but comments. */
  readonly of?: (text: string) => string
}

const rule =
  (...parts: readonly PatternRule[]) =>
  (files: readonly SourceFile[]): Finding[] =>
    files.flatMap(({ path, text }) =>
      parts.flatMap(({ where, pattern, says, of = withoutComments }) =>
        where(path) ? matches(path, of(text), pattern, says) : [],
      ),
    )

const whole = (text: string): string => text
const isPackageCode = (path: string): boolean => /^packages\/.*\.(tsx?|mjs|js)$/.test(path)

/** Folders in which time and chance are arguments, so that they can run on virtual time and from a seed. */
const simulated = /^packages\/(engine\/src|gateway\/src\/handlers|bench\/src\/(sim|labs))\//
const sourcesOfTime = /^packages\/engine\/src\/(clock|random|testing\/virtual-clock)\.ts$/

export const ambientFindings = rule({
  where: (path) => simulated.test(path) && !isTest(path) && !sourcesOfTime.test(path),
  pattern:
    /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bset(?:Timeout|Interval|Immediate)\b|\bMath\.random\b|\bqueueMicrotask\b|\bnextTick\b|\bhrtime\b|\brandom(?:UUID|Bytes|Int)\b/g,
  says: (found) => `uses ${found}: take time and chance from what is passed in`,
})

const leaves = (found: string): string => `leaves the type system: ${found}`

export const escapeFindings = rule(
  { where: isPackageCode, pattern: /\bas any\b|: any\b|<any\b|@ts-(?:ignore|nocheck)\b/g, says: leaves },
  { where: isPackageCode, pattern: /\/\/ *@ts-(?:ignore|nocheck)\b/g, says: leaves, of: whole },
)

/** Refuses servers and processes in tests beside the sources, which `npm run test:unit` runs: they belong to `test/`. */
export const unitFindings = rule({
  where: (path) => /^packages\/[^/]+\/src\/.*\.test\.tsx?$/.test(path),
  pattern: /'node:child_process'|\.listen\(|\b(?:startGateway|startCommand|testGateway)\(/g,
  says: (found) => `starts a server or a process (${found}): move it to test/`,
})

/** Refuses hooks at module level: a worker loads a module once for all test files (vitest.config.ts), so they would run for the first only. */
export const sharedHookFindings = rule({
  where: (path) => /^packages\/.*(?<!\.test)\.ts$/.test(path),
  pattern: /^(?:before|after)(?:Each|All)\(/gm,
  says: (found) => `registers ${found}…) for one file of many: use onTestFinished`,
  of: whole,
})

/** Refuses paths of one person's machine, and addresses of a registry. */
export const machineFindings = rule(
  {
    where: () => true,
    pattern: /(?<![\w.])(?:\/(?:work|farm|root|home|Users)\/[\w.-]+|[A-Z]:\\Users\\)/g,
    says: (found) => `names a path of one machine: ${found}`,
    of: whole,
  },
  {
    where: () => true,
    pattern: /\bregistry\.[\w-]+\.(?:org|com|net|io|dev)\b|\b(?:npm|registry)\.(?:internal|local)\b/g,
    says: (found) => `names a package registry: ${found}`,
    of: whole,
  },
)

export const lockfileFindings = rule({
  where: (path) => /(^|\/)(pnpm-lock\.yaml|package-lock\.json)$/.test(path),
  pattern: /\b(?:resolved|tarball):? *"?https?:\/\//g,
  says: (found) => `holds a download address: ${found}`,
  of: whole,
})

export const vagueWords: readonly string[] = ['somebody', 'nobody', 'anybody', 'whoever']
export const riddles: readonly string[] = ['What', 'Of', 'Who', 'Whose', 'As much']

const isSource = (path: string): boolean => /^packages\/[^/]+\/src\/.*\.ts$/.test(path)
const vague = {
  pattern: new RegExp(`\\b(?:${vagueWords.join('|')})\\b`, 'gi'),
  says: (found: string): string => `says "${found}": name the client, reader or caller`,
}

/**
 * A sentence begins with its subject. A text contains none of {@link vagueWords}, and no comment line of a source begins with one of
 * {@link riddles}: "Of the rows, the newest" is "The newest row". Code in documents may quote the output of commands.
 */
export const wordFindings = rule(
  { ...vague, where: isSource, of: whole },
  {
    where: isSource,
    pattern: new RegExp(`(?<=^[ \\t]*(?:/\\*\\*|\\*|//) )(?:${riddles.join('|')})(?= )`, 'gm'),
    says: (found) => `has a comment that opens with "${found}": begin with a noun`,
    of: whole,
  },
  {
    ...vague,
    where: (path) => path.endsWith('.md') && /^(?:docs\/|[^/]+$)/.test(path),
    of: (text) => text.replace(/^( *)```[\s\S]*?^\1```|`[^`\n]*`/gm, (code) => code.replace(/[^\n]/g, ' ')),
  },
)
