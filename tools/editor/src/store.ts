// SPDX-License-Identifier: MIT
// The state of the page as signals, and the commands that change it. All truth is the server's: a command asks it and
// fetches what changed.
import {batch, computed, signal} from "@preact/signals";
import {load, type Visibility} from "espy-web";

import {api, listen, type BakeEvent, type Estimate, type FlagName, type Occlusion, type SceneNode, type Settings,
    type Status, type Warning} from "./api";

export interface ViewCounts {
    frustumCulled: number;
    occlusionCulled: number;
    drawn: number;
}

export const status = signal<Status | null>(null);
export const nodes = signal<SceneNode[]>([]);
export const settings = signal<Settings | null>(null);
export const occlusion = signal<Occlusion | null>(null);
export const estimate = signal<Estimate | null>(null);
export const geometry = signal<ArrayBuffer | null>(null);
export const visibility = signal<Visibility | null>(null);
export const selection = signal<ReadonlySet<number>>(new Set());
export const baking = signal<BakeEvent | null>(null);
export const preview = signal(false);
export const bounds = signal(true);
export const heatMap = signal(false);
export const panels = signal(true);
export const stats = signal(true);
export const message = signal<{text: string; error: boolean} | null>(null);
export const connected = signal(true);
/** Ids of the cameras of the two preview panels; -1: one that was put where the viewport looked from. */
export const gameCamera = signal(-1);
export const secondCamera = signal(-1);
/** Counts of the Game Preview and the Second Screen Preview. */
export const counts = signal<ViewCounts[]>([]);
export const gameCell = signal(-1);

export const byId = computed(() => new Map(nodes.value.map(node => [node.id, node])));
export const cameras = computed(() => nodes.value.filter(node => node.camera));
export const areas = computed(() => nodes.value.filter(node => node.kind === "OcclusionArea"));
export const selected = computed(() =>
    [...selection.value].map(id => byId.value.get(id)).filter(node => node !== undefined));
export const warnings = computed<Warning[]>(() =>
    [...status.value?.warnings ?? [], ...occlusion.value?.bake.warnings ?? []]);
export const culled = computed(() => counts.value.reduce(
    (sum, view) => ({
        frustumCulled: sum.frustumCulled + view.frustumCulled,
        occlusionCulled: sum.occlusionCulled + view.occlusionCulled,
        drawn: sum.drawn + view.drawn,
    }), {frustumCulled: 0, occlusionCulled: 0, drawn: 0}));

let shownMessage = 0;

function say(text: string, error = false): void {
    const number = ++shownMessage;
    message.value = {text, error};
    setTimeout(() => {
        if (number === shownMessage) {
            message.value = null;
        }
    }, error ? 10000 : 3000);
}

/** Runs a command; what fails is shown with the server's line. */
async function attempt(run: () => Promise<unknown>, done = ""): Promise<void> {
    try {
        await run();
        if (done) {
            say(done);
        }
    } catch (error) {
        say(error instanceof Error ? error.message : String(error), true);
    }
}

// --- fetching

let dataRevision = "";
let fetching: Promise<void> | null = null;
let again = false;

async function fetchAll(): Promise<void> {
    const [newStatus, newScene, newSettings, newOcclusion] =
        await Promise.all([api.status(), api.scene(), api.settings(), api.occlusion()]);
    batch(() => {
        status.value = newStatus;
        nodes.value = newScene.nodes;
        settings.value = newSettings;
        occlusion.value = newOcclusion;
        preview.value = newOcclusion.preview;
        if (newOcclusion.bake.state !== "running") {
            baking.value = null;
        }
        if (gameCamera.value < 0 && newScene.nodes.some(node => node.camera)) {
            const first = newScene.nodes.filter(node => node.camera);
            gameCamera.value = first[0].id;
            secondCamera.value = first[Math.min(1, first.length - 1)].id;
        }
    });
    geometry.value ??= await api.geometry();
    // The data is fetched again only where it is another one.
    const mark = JSON.stringify([newOcclusion.data, newOcclusion.bake.number]);
    if (mark !== dataRevision) {
        dataRevision = mark;
        visibility.value = newOcclusion.baked ? await load(await api.data()) : null;
    }
    if (newOcclusion.bake.state !== "running") {
        estimate.value = await api.estimate();
    }
}

/** Fetches everything; calls that come meanwhile lead to one more fetch. */
export function refresh(): Promise<void> {
    if (fetching) {
        again = true;
        return fetching;
    }
    fetching = attempt(fetchAll).then(() => {
        fetching = null;
        if (again) {
            again = false;
            return refresh();
        }
        return undefined;
    });
    return fetching;
}

export function start(): void {
    listen({
        bake: event => {
            baking.value = event.state === "running" ? event : null;
            if (event.state !== "running") {
                void refresh();
            }
        },
        changed: () => void refresh(),
        preview: enabled => {
            preview.value = enabled;
        },
        resync: () => {
            connected.value = true;
            void refresh();
        },
        lost: () => {
            connected.value = false;
        },
    });
}

// --- commands

export function select(ids: Iterable<number>, add = false): void {
    selection.value = new Set(add ? [...selection.value, ...ids] : ids);
}

export function toggle(id: number): void {
    const ids = new Set(selection.value);
    if (!ids.delete(id)) {
        ids.add(id);
    }
    selection.value = ids;
}

export const setFlag = (flag: FlagName, on: boolean): Promise<void> =>
    attempt(() => api.setFlags([...selection.value], {[flag]: on}));

export const markSelected = (): Promise<void> =>
    attempt(() => api.setFlags([...selection.value], {occluder: true, occludee: true}),
        `${selection.value.size} marked as occluder and occludee`);

export const setSettings = (change: Partial<Settings>): Promise<void> => attempt(() => api.setSettings(change));

/** An area of 8 x 4 x 8 m around a point, or around what is selected. */
export const spawnArea = (x: number, y: number, z: number): Promise<void> => attempt(async () => {
    let low = [x - 4, y - 2, z - 4], high = [x + 4, y + 2, z + 4];
    const boxes = selected.value.map(node => node.bounds).filter(box => box !== null);
    if (boxes.length > 0) {
        low = [0, 1, 2].map(k => Math.min(...boxes.map(box => box[k])));
        high = [0, 1, 2].map(k => Math.max(...boxes.map(box => box[3 + k])));
    }
    const made = await api.addArea({min: low, max: high, name: "Occlusion Area"});
    await refresh();
    select([made.id]);
});

export const moveArea = (id: number, transform: number[]): Promise<void> =>
    attempt(() => api.moveArea(id, transform));

export const removeSelectedAreas = (): Promise<void> => attempt(async () => {
    for (const node of selected.value.filter(item => item.kind === "OcclusionArea")) {
        await api.removeArea(node.id);
    }
});

export const bake = (): Promise<void> => attempt(api.bake);
export const cancelBake = (): Promise<void> => attempt(api.cancel);
export const clear = (): Promise<void> => attempt(api.clear, "baked data dropped");
export const save = (): Promise<void> => attempt(async () => {
    status.value = await api.save();
}, "saved");
export const undo = (): Promise<void> => attempt(api.undo);
export const redo = (): Promise<void> => attempt(api.redo);
export const setPreview = (on: boolean): Promise<void> => attempt(() => api.setPreview(on));
