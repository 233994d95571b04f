// One JSON request a line on stdin, one JSON answer a line on stdout, in the words of java/src/compat/Driver.java.

import { createInterface } from 'node:readline'

// Stdout is for answers alone.
console.log = console.info = console.debug = console.error

export async function serve (operations, nameOfError) {
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    let answer
    try {
      answer = { result: (await operations[request.operation](request)) ?? null }
    } catch (failure) {
      console.error(failure)
      answer = { error: nameOfError(failure), message: String(failure.message) }
    }
    process.stdout.write(JSON.stringify(answer) + '\n')
  }
  process.exit(0)
}

// Opens one client of a kind for each broker, and keeps it.
export function kept (open) {
  const clients = new Map()
  return async bootstrap => {
    if (!clients.has(bootstrap)) {
      clients.set(bootstrap, await open(bootstrap))
    }
    return clients.get(bootstrap)
  }
}

export const raw = base64 => (base64 === null ? null : Buffer.from(base64, 'base64'))

export const base64 = octets => octets?.toString('base64') ?? null

// The login of librdkafka's settings, with the mechanism as a library writes it; undefined without one.
export const login = (settings, mechanism) =>
  'sasl.mechanism' in settings
    ? {
        mechanism: mechanism(settings['sasl.mechanism']),
        username: settings['sasl.username'],
        password: settings['sasl.password']
      }
    : undefined

export const number = (settings, key, otherwise) => (key in settings ? Number(settings[key]) : otherwise)

export function deadline (milliseconds, what) {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`only ${what()} within ${milliseconds} ms`)), milliseconds).unref()
  })
}
