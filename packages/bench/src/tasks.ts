/** The exports for a page in a browser, which runs labs in workers of its own. */
export { doTask, judgeProgram, type PlainTask, type ProgramTask, refusalOf, seldom } from './worker/tasks.ts'
