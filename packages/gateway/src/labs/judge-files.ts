/**
 * The files of the workers in which a page judges a learner's program, as the package of the labs has them: one has the judge and its store, and starts the
 * other one for each process of the program. Their policy lets a program's text be executed there, and lets it reach nothing.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatastoreError } from '@sixtables/engine'
import type { Router } from '../protocols/router.ts'
import { installedLabs } from './bench-package.ts'
import { installCommand } from './lab-routes.ts'

const folder = '/emulator/labs/files'
const names = ['judge.js', 'program.js']

/** The address of the judge. */
export const judgeFile: string = `${folder}/judge.js`

export function addJudgeFiles(router: Router): void {
  router.add('GET', `${folder}/{name}`, async ({ parameters: { name = '' } }) => {
    const labs = installedLabs()
    if (labs === undefined || !names.includes(name))
      throw new DatastoreError('NOT_FOUND', `there is no file ${name} of the labs; they come with ${installCommand}`)
    return {
      file: {
        body: await readFile(join(labs.files, name)),
        contentType: 'text/javascript; charset=utf-8',
        headers: {
          'Cache-Control': 'no-cache',
          'Content-Security-Policy': "default-src 'none'; script-src 'self' blob:; worker-src 'self'",
          'Cross-Origin-Resource-Policy': 'same-origin',
        },
      },
    }
  })
}
