// SPDX-License-Identifier: MIT
// The REST controller (tools/server/openapi.json) as functions. Errors are thrown with the server's own line.

export type Box = [number, number, number, number, number, number];
export type FlagName = "occluder" | "occludee" | "hidden" | "blocker" | "dynamic" | "skybox" | "alwaysUpdate";

export interface CameraDef {
    orthographic: boolean;
    verticalFov: number;
    aspect: number;
    halfHeight: number;
    near: number;
    far: number;
}

export interface SceneNode {
    id: number;
    name: string;
    kind: string;
    parent: number;
    transform: number[];
    bounds: Box | null;
    mesh: number;
    instances: number;
    flags: Record<FlagName, boolean>;
    tags: string[];
    camera?: CameraDef;
}

export interface Warning {
    id: number;
    text: string;
    node: number;
}

export interface Status {
    version: string;
    level: string;
    data: string;
    format: string;
    revision: number;
    dirty: boolean;
    canUndo: boolean;
    canRedo: boolean;
    warnings: Warning[];
}

export interface Settings {
    occlusionCulling: boolean;
    occlusionCellSize: number;
    bakeQuality: "low" | "medium" | "high" | "proven";
    dynamicObjects: boolean;
    consoleBudgetKB: number;
    unrollCellSize: number;
}

export interface Bake {
    state: "idle" | "running" | "done" | "cancelled" | "failed";
    number: number;
    done: number;
    total: number;
    cells: number;
    rays: number;
    seconds: number;
    message: string;
    warnings: Warning[];
}

export interface BakedData {
    cells: number;
    occluders: number;
    occludees: number;
    fileBytes: number;
    quality: string;
    cellSize: number;
    dynamicObjects: boolean;
    tables: Record<string, number>;
}

export interface Occlusion {
    revision: number;
    baked: boolean;
    stale: boolean | null;
    staleReason: string;
    staleNode: number;
    changedOccludees: number;
    preview: boolean;
    data: BakedData | null;
    bake: Bake;
}

export interface Estimate {
    refused: boolean;
    message: string;
    cells: number;
    pairs: number;
    leastBytes: number;
    mostBytes: number;
    warns: boolean;
    cpuSeconds: number | null;
}

const token = new URLSearchParams(location.search).get("token");

async function request(method: string, path: string, body?: unknown): Promise<Response> {
    const headers: Record<string, string> = {};
    if (token) {
        headers.Authorization = `Bearer ${token}`;
    }
    if (body !== undefined) {
        headers["Content-Type"] = "application/json";
    }
    const answer = await fetch(`/api${path}`, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!answer.ok) {
        const text = await answer.json().then(value => value.error?.message as string).catch(() => answer.statusText);
        throw new Error(text);
    }
    return answer;
}

async function json<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await request(method, path, body)).json() as Promise<T>;
}

async function bytes(path: string): Promise<ArrayBuffer> {
    return (await request("GET", path)).arrayBuffer();
}

export const api = {
    status: () => json<Status>("GET", "/status"),
    scene: () => json<{revision: number; nodes: SceneNode[]}>("GET", "/scene"),
    geometry: () => bytes("/scene/geometry"),
    settings: () => json<Settings>("GET", "/scene/settings"),
    setSettings: (change: Partial<Settings>) => json<Settings>("PUT", "/scene/settings", change),
    setFlags: (nodes: number[], set: Partial<Record<FlagName, boolean>>) =>
        json<Status>("PUT", "/scene/flags", {nodes, set}),
    addArea: (area: {min: number[]; max: number[]; name?: string}) => json<{id: number}>("POST", "/scene/areas", area),
    moveArea: (id: number, transform: number[]) => json<{id: number}>("PUT", `/scene/areas/${id}`, {transform}),
    removeArea: (id: number) => json<{id: number}>("DELETE", `/scene/areas/${id}`),
    occlusion: () => json<Occlusion>("GET", "/occlusion/status"),
    estimate: () => json<Estimate>("GET", "/occlusion/estimate"),
    bake: () => json<Occlusion>("POST", "/occlusion/bake"),
    cancel: () => json<Occlusion>("POST", "/occlusion/cancel"),
    clear: () => json<Occlusion>("POST", "/occlusion/clear"),
    setPreview: (enabled: boolean) => json<{enabled: boolean}>("PUT", "/occlusion/preview", {enabled}),
    data: () => bytes("/occlusion/data"),
    cells: () => bytes("/occlusion/cells"),
    save: () => json<Status>("POST", "/save"),
    undo: () => json<Status>("POST", "/undo"),
    redo: () => json<Status>("POST", "/redo"),
};

export interface BakeEvent {
    bake: number;
    state: Bake["state"];
    done: number;
    total: number;
    cells: number;
    rays: number;
    raysPerSecond: number;
    seconds: number;
}

/** Listens for ever; `resync` is called when events may have been missed, also at the start. */
export function listen(on: {bake(event: BakeEvent): void; changed(): void; preview(enabled: boolean): void;
    resync(): void; lost(): void}): void {
    const source = new EventSource(`/api/events${token ? `?token=${token}` : ""}`);
    source.addEventListener("bake", event => on.bake(JSON.parse((event as MessageEvent<string>).data)));
    source.addEventListener("changed", () => on.changed());
    source.addEventListener("preview", event =>
        on.preview(JSON.parse((event as MessageEvent<string>).data).enabled));
    source.addEventListener("resync", () => on.resync());
    source.onopen = () => on.resync();
    source.onerror = () => on.lost();
}
