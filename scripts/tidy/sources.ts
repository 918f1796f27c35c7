/** Rules for code: heads, and no disabled test without a reason. Sizes are rules of biome.json. */
import { type Finding, isShipped, isTest, matches, type SourceFile, withoutComments } from './repository.ts'

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

/** Refuses `.only`, and a disabled test without a reason, as its second argument or in a comment on its line or the one above. */
export function switchedOffFindings(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => /\.(tsx?|mjs|js)$/.test(path) && isTest(path))
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
