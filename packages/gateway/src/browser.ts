/** The parts of the gateway that also run in a browser, which the console has in its bundle, and the shapes of answers that it reads. */
export type { OverviewEvent } from './admin/emulator/overview.ts'
export { timeInWords } from './controls/time-in-words.ts'
export { completionsAt, type KnownNames } from './gql/complete.ts'
export { GqlError } from './gql/gql-error.ts'
export { parseBlob, parseDateTime, parseInt64 } from './gql/literals.ts'
export { parseGql } from './gql/parse.ts'
export { printGql, printOperand } from './gql/print.ts'
export type {
  AggregateStatement,
  ComparisonOperator,
  Condition,
  KeyLiteral,
  Operand,
  Order,
  ResultPosition,
  SelectStatement,
  Statement,
} from './gql/syntax.ts'
export { nextToken, type Token } from './gql/tokens.ts'
