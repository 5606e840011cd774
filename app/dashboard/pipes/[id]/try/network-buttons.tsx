'use client'

import { KeyRound, Plug, RotateCw, Unplug, Wifi } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { notify } from '#components/ui/toaster.tsx'
import type { Uploader } from '#components/uploader/create-uploader.ts'
import { endTrialToken } from './actions.ts'

export function NetworkButtons({ uploader }: { uploader: Uploader }) {
  const [down, setDown] = useState(false)
  const [slow, setSlow] = useState(true)

  async function endToken(how: 'expire' | 'revoke') {
    const id = uploader.tokenId()
    if (!id) return
    const answer = await endTrialToken(id, how)
    if (answer.status === 'error') return notify.failed(answer.message)
    uploader.say(how === 'expire' ? 'the token expired' : 'the token was revoked', 'bad')
  }

  return (
    <div className="space-y-3">
      <div className="grid grid-cols-2 gap-2">
        <Button onClick={() => uploader.cut()} icon={Unplug}>
          Cut connection
        </Button>
        <Button
          aria-pressed={down}
          onClick={() => {
            setDown(!down)
            uploader.setDown(!down)
          }}
        >
          {down ? <Plug aria-hidden /> : <Wifi aria-hidden />}
          {down ? 'Go online' : 'Go offline'}
        </Button>
        <Button onClick={() => endToken('expire')} icon={KeyRound}>
          Expire token
        </Button>
        <Button onClick={() => endToken('revoke')} icon={KeyRound}>
          Revoke token
        </Button>
        <Button className="col-span-2" onClick={() => window.location.reload()} icon={RotateCw}>
          Reload the page
        </Button>
      </div>
      <label className="flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          checked={slow}
          onChange={(event) => {
            setSlow(event.target.checked)
            uploader.setSlow(event.target.checked)
          }}
          className="size-4 accent-(--water)"
        />
        Slow connection, so that you have time to interrupt
      </label>
    </div>
  )
}
