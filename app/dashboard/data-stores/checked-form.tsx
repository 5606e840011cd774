'use client'

import { useEffect, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import type { FormAction } from '#components/ui/form-state.ts'
import { Notice } from '#components/ui/notice.tsx'
import type { BucketCheck } from '#drizzle/schema/index.ts'
import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import { CheckedOperations, LeastPolicy } from './check-findings.tsx'
import type { ServerFacts } from './credentials.tsx'
import { DataStoreForm } from './data-store-form.tsx'
import type { FormPreset } from './provider-presets.ts'

type Outcome = { refused?: BucketCheck }
type Props = {
  presets: FormPreset[]
  server: ServerFacts
  store?: DataStore
  action: FormAction<Outcome>
}

/**
 * Checks the input before saving it. The result scrolls into view: below the form if nothing was saved, otherwise above
 * it.
 */
export function CheckedForm({ presets, server, store, action }: Props) {
  const [refused, setRefused] = useState<BucketCheck>()
  const result = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (refused) result.current?.focus()
  }, [refused])

  function show(outcome: Outcome) {
    setRefused(outcome.refused)
    if (!outcome.refused) document.getElementById('check')?.scrollIntoView({ block: 'center' })
  }

  const anyway = (
    <Button type="submit" name="anyway" value="on">
      Save anyway
    </Button>
  )
  return (
    <>
      <DataStoreForm
        presets={presets}
        server={server}
        {...(store && { store })}
        submit="Check and save"
        action={action}
        onDone={show}
        outcome={(data) =>
          data.refused && (
            <>
              <Refused check={data.refused} kept={store !== undefined} />
              {anyway}
            </>
          )
        }
        aside={refused && anyway}
      />
      {refused && (
        <div ref={result} tabIndex={-1} role="alert" className="mt-5 scroll-my-6 space-y-4 outline-none">
          <Refused check={refused} kept={store !== undefined} />
        </div>
      )}
    </>
  )
}

function Refused({ check, kept }: { check: BucketCheck; kept: boolean }) {
  return (
    <>
      <Notice tone="bad" title="Not saved: uploads could not go to this bucket.">
        {kept && 'The previous settings are still in use. '}
        Fix the refused operations listed below, then check again.
      </Notice>
      <CheckedOperations check={check} />
      <LeastPolicy check={check} />
    </>
  )
}
