import type { HookAnswer } from '#lib/hooks/hook.ts'

type Words = { title: string; purpose: string; refuse: string; allow: string }

export const HOOK_WORDS: Record<HookAnswer['hook'], Words> = {
  before_create: {
    title: 'Before an upload starts',
    purpose:
      'Your backend allows or rejects each upload by its name, type, size and token, and can rename it.',
    refuse: 'refuse for now: clients retry',
    allow: 'allow the upload',
  },
  before_complete: {
    title: 'Before the object is created',
    purpose:
      'Your backend allows, rejects or defers each file once all its bytes have arrived, and can return a result to the uploader.',
    refuse: 'reject the file',
    allow: 'allow the file',
  },
}
