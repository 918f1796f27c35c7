/** The README.md of a learner's folder: the task, what must be reached, and what a program may call. */
import type { Challenge } from './challenge.ts'
import { calls } from './program-calls.ts'
import { hasGiven, type Language } from './starters.ts'

/** @param folder - as the learner named it, from where the command runs */
export function readmeOf(challenge: Challenge, folder: string, starter?: Starter): string {
  return `${taskOf(challenge)}
${starter === undefined ? simulatedPart(challenge, folder) : commandPart(challenge, folder, starter)}`
}

export interface Starter {
  readonly language: Language
  /** The given program in JavaScript. */
  readonly given: string
}

function taskOf({ name, title, task, goals }: Challenge): string {
  const says = Object.values(goals).map((goal) => `- ${goal.says}`)
  return `# ${name}: ${title}

${task}

It passes when

${says.join('\n')}
`
}

function simulatedPart({ functions, minutes, lab }: Challenge, folder: string): string {
  return `Change \`solution.mjs\`. It must export ${functions.map((one) => `\`${one.name}\``).join(', ')}. Allow about ${minutes} minutes. The lab
\`npx sixtables-lab run ${lab}\` shows the effect. Then, in the folder from which
you started:

\`\`\`sh
npx sixtables-lab challenge judge ${folder}
\`\`\`

The judge keeps the store and calls your functions in a process of their own, with random data. It replaces that process at random moments, as a
platform does with its instances, and always between writing and reading: what a call has acknowledged must be in the store. First it prints
what your program did, then the findings, then figures and heat beside those of the program as it was given. What you print goes to the
standard error.

Time is simulated: \`db.now()\`, \`Date\`, \`db.sleep(ms)\` and \`setTimeout\` follow it. The program cannot write files or start
processes, and reads its own folder alone.

## What you may call

A key is an array: \`['User', 'ada', 'Post', 17]\`, kind and name or id, root first. Without a last id or name, one is allocated. Properties are
text, numbers, \`true\` and \`false\`, \`null\`, \`Date\`, and arrays of these.

| call | answer |
| --- | --- |
${calls.map((row) => `| ${row.join(' | ')} |`).join('\n')}

\`where\` is a list of \`[property, operator, value]\` with \`= < <= > >= != in\`; the property \`__key__\` compares keys. \`order\` is a list of
property names; \`'-name'\` is descending. Composite indexes are made when a query needs them.
`
}

function commandPart(challenge: Challenge, folder: string, { language, given }: Starter): string {
  const { functions, minutes, lab } = challenge
  const [program] = language.files
  const isGiven = hasGiven(challenge, language)
  return `Change \`${program}\`${isGiven ? '' : ', whose functions are yet to be written: the design that you are given stands at the end of this page'}. It needs
${language.needs} Allow about ${minutes} minutes. The lab
\`npx sixtables-lab run ${lab}\` shows the effect. Then, in the folder from which you started:

\`\`\`sh
npx sixtables-lab challenge judge ${folder}
\`\`\`

The judge starts an emulator with simulated servers and, in this folder, the command of \`challenge.json\`: \`${language.command}\`. It sends calls
as lines of JSON to the standard input, and reads answers as lines from the standard output. Many calls are under way at once, and may be answered in
any order:

\`\`\`json
${functions
  .map(
    ({ name, takes, answers }, i) =>
      `${JSON.stringify({ id: i + 1, call: name, ...takes })}\n${JSON.stringify({ id: i + 1, answer: answers })}`,
  )
  .join('\n')}
\`\`\`

- An answer of \`null\` does not matter. Times are text such as \`2026-01-01T00:00:00.000Z\`; whole numbers from 2^53 on must be text.
- A call that failed is answered with \`{"id": 7, "error": {"code": "ABORTED", "message": "…"}}\`, where the code is that of the store's error. Under load
  the goals say how many calls may fail. Any other error ends the judging.
- \`DATASTORE_EMULATOR_HOST\` and \`DATASTORE_PROJECT_ID\` name the emulator. It has one database; use its default namespace.
- The load is a fifth of the task's; in a ramp it is half as many calls, each standing for twice as many. The figures beside yours are those of the
  given program in JavaScript under the whole load.
- Each request stands for many, as a load of production has them. Simulated time stands still while your program works, so a slow computer changes little.
  Use the times of the calls and not the computer's clock.
- The process is ended and started again at random moments, and always between writing and reading: what a call has answered must be in the store.
- What you print goes to the standard error; the standard output is for answers.
${isGiven ? '' : `\n## The design that you are given, in JavaScript\n\n\`\`\`js\n${given}\`\`\`\n`}`
}
