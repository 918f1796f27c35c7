/** The exports of the labs for other packages. */
export type { Arm, Expectation, Lab, Verdict } from './lab.ts'
export { labs } from './labs/catalogue.ts'
export type { ArmResult, Chart, Figure, Heatmap, TextBlock } from './measure/recorder.ts'
export { htmlReport } from './report/html.ts'
export { jsonReport } from './report/json.ts'
export { type LabResult, type RunOptions, runLab } from './runner.ts'
export type { Setting } from './setting.ts'
export { type SettingName, settingNames, settings } from './settings.ts'
