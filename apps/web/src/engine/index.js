// One engine for the page: that of the server where the page was served by `daedalus serve`, else the module.
import { LocalEngine } from './local.js';
import { RemoteEngine } from './remote.js';

export const local = new LocalEngine();
let chosen = null;

async function choose() {
  if (location.protocol === 'file:' || !document.querySelector('meta[name="daedalus-served"]')) return local;
  const answer = await fetch('api/v1').catch(() => null);
  return answer?.ok ? new RemoteEngine(await answer.json()) : local;
}

export function engine() {
  chosen ??= choose();
  return chosen;
}
