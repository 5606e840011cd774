import { emptyAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'

export const headBucket: Perform = async () => emptyAnswer(200)
