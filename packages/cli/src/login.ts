import { createSluice } from '../../node/src/client.ts'
import { type Command, misused, readArguments, readSecret, result, say } from './command.ts'
import { keepSettings } from './settings.ts'
import { keepsSender } from './upload-token.ts'

const usage =
  'login --url <address of your Sluice> [--json]   (asks for the account key, or reads it from standard input)'

/** The key is never an argument, because everyone on the machine can read a process's arguments. */
export const login: Command = {
  usage,
  about: "Store your Sluice's address and an account key",
  async run(args) {
    const { values } = readArguments(args, usage, { url: { type: 'string' } })
    if (!values.url || !URL.canParse(values.url))
      throw misused('Specify the address of your Sluice with --url.', usage)
    const baseUrl = values.url.replace(/\/+$/, '')
    if (isInTheClear(baseUrl))
      say(`${baseUrl} is not https: the key and everything you upload can be read in transit.`)
    const accountKey = (await readSecret('Account key (ak_…): ')).trim()
    const signedIn = createSluice({ baseUrl, accountKey })
    const { data } = await signedIn.listPipes({ limit: 2 })
    const only = data.length === 1 ? data[0]!.id : undefined
    const noSender = { senderToken: undefined, senderId: undefined }
    const sender = (await keepsSender(signedIn, baseUrl)) ? {} : noSender
    keepSettings({ baseUrl, accountKey, pipeId: only, ...sender } as object)
    result(values.json, { baseUrl, pipeId: only ?? null }, `Signed in to ${baseUrl}.`)
  },
}

/** True for plain HTTP to another machine. Traffic to this machine never leaves it. */
function isInTheClear(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'http:' && !/^(127(\.\d+){3}|\[::1\]|(.+\.)?localhost)$/.test(hostname)
}
