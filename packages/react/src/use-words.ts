import { useEffect, useMemo, useState } from 'react'
import { words as en } from './languages/en.ts'
import { loadWords, pageLanguage, withWords } from './languages.ts'
import type { SomeWords, Words } from './words.ts'

type Given = { lang?: string | undefined; words?: SomeWords | undefined }

/** Shows English until another language has loaded. Words with a `lang` are a language's own, and load no other. */
export function useWords({ lang, words }: Given): Words {
  const [base, setBase] = useState<Words>(en)
  const isGiven = words?.lang !== undefined
  useEffect(() => {
    let isCurrent = true
    if (!isGiven)
      void loadWords(lang ?? pageLanguage(document.documentElement)).then((loaded) => {
        if (isCurrent) setBase(loaded)
      })
    return () => {
      isCurrent = false
    }
  }, [lang, isGiven])
  return useMemo(() => withWords(base, words), [base, words])
}
