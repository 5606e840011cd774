import type { HookAnswer } from '#lib/hooks/hook.ts'

type Words = { title: string; purpose: string; refuse: string; allow: string }

export const HOOK_WORDS: Record<HookAnswer['hook'], Words> = {
  before_create: {
    title: 'Before an upload begins',
    purpose:
      'Your backend allows or refuses each upload by its name, type, size and token, and may name it otherwise.',
    refuse: 'refuse for the moment: clients try again',
    allow: 'allow the upload',
  },
  before_complete: {
    title: 'Before there is an object',
    purpose:
      'Your backend allows, rejects or defers each file once all its bytes are here, and may hand a result to the uploader.',
    refuse: 'reject the file',
    allow: 'allow the file',
  },
}
