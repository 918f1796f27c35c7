/** The worker of a console behind a server, which judges one program there; the package of the labs has it built. */
import type { ProgramTask } from '@sixtables/bench/tasks'
import { runTask } from './labs.ts'

self.onmessage = ({ data }: MessageEvent<{ readonly task: ProgramTask }>) => runTask(data.task)
