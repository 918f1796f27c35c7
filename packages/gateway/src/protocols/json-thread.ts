/** The thread that converts large messages between JSON and bytes, one at a time (json-threads.ts). */
import { parentPort } from 'node:worker_threads'
import { DatastoreError } from '@sixtables/engine'
import { answerToJson, requestFromJson } from './json-codec.ts'
import type { ConversionTask, Converted } from './json-threads.ts'

parentPort?.on('message', (task: ConversionTask) => parentPort?.postMessage(converted(task)))

function converted({ conversion, method, bytes }: ConversionTask): Converted {
  try {
    const given = Buffer.from(bytes.buffer)
    return {
      made: conversion === 'answerToJson' ? Buffer.from(answerToJson(method, given)) : requestFromJson(method, given),
    }
  } catch (error) {
    if (!(error instanceof DatastoreError)) throw error
    const { code, message, retry, committed, details } = error
    return { refused: { code, message, retry, committed, details } }
  }
}
