/** The parts of the gateway that also run in a browser, which the console has in its bundle, and the shapes of answers that it reads. */

export { formatKeyPath, readKeyPath } from '@sixtables/engine/typed-keys'
export type * from './admin/emulator/engine-routes.ts'
export type { OverviewEvent } from './admin/emulator/overview.ts'
export type { ProgressEvent } from './admin/emulator/progress.ts'
export type { MessageReport, RequestDetailReport, RequestEvent, RequestList } from './admin/emulator/request-routes.ts'
export type { OperationJson } from './admin/operations/operations.ts'
export type { RecordedRequest, TableRows } from './calls/request-recorder.ts'
export type { PageAnswer } from './cli/page/page-commands.ts'
export type { ClockReport } from './controls/emulator-clock.ts'
export type { FaultMethod, FaultReport } from './controls/faults.ts'
export { timeInWords } from './controls/time-in-words.ts'
export type { ServerFacts } from './emulator/server-file.ts'
export type { SnapshotReport } from './emulator/snapshots.ts'
export type { FixtureFormat } from './fixtures/fixture.ts'
export { completionsAt, type KnownNames } from './gql/complete.ts'
export { parseBlob, parseDateTime, parseInt64, printDateTime } from './gql/literals.ts'
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
export { GqlError, nextToken, type Token } from './gql/tokens.ts'
export type { LabRunReport, WholeRunReport } from './labs/lab-routes.ts'
export { methodNames } from './methods.ts'
