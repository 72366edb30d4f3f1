/**
 * Where each node and each arrow of the graph is drawn: a layered layout by dagre, which is loaded when it is needed.
 */

import { late } from "../../shell/late.js";

export const WIDTH = 196; // px of a node
export const HEIGHT = 46;
const BESIDE = 62; // px between two columns
const BELOW = 12; // px between two nodes of a column
const MARGIN = 16;

/**
 * @typedef {{x: number, y: number}} Spot the left upper corner
 * @typedef {{width: number, height: number, spots: Map<string, Spot>, lines: {from: string, to: string, d: string}[],
 *   order: string[]}} Drawing
 */

/**
 * @param {string[]} nodes @param {import("./shape.js").Arrow[]} edges
 * @returns {Promise<Drawing|null>} `order`: the nodes as one reads them, column by column; null: it cannot be drawn now
 */
export async function draw(nodes, edges) {
  const { Graph, layout } = (await late("dagre")) ?? {};
  if (!Graph) return null;
  const graph = new Graph();
  graph.setGraph({
    rankdir: "LR", ranksep: BESIDE, nodesep: BELOW, edgesep: BELOW, marginx: MARGIN, marginy: MARGIN,
    ranker: "tight-tree", // a fifth of the time of the exact one, and as good to look at
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const centre = (id) => graph.node(id);
  const columns = new Set(nodes.map((id) => Math.round(centre(id).x)));
  const spots = new Map(nodes.map((id) => [id, spot(centre(id))]));
  return {
    width: graph.graph().width,
    height: graph.graph().height,
    spots,
    lines: edges.map((edge) => ({ ...edge, d: line(graph.edge(edge.from, edge.to).points, columns, edge, spots) })),
    order: [...nodes].sort((one, other) =>
      spots.get(one).x - spots.get(other).x || spots.get(one).y - spots.get(other).y),
  };
}

const spot = ({ x, y }) => ({ x: x - WIDTH / 2, y: y - HEIGHT / 2 });

/** Level through every column that it crosses, bent only between them. */
function line(points, columns, { from, to }, spots) {
  const start = spots.get(from);
  const end = spots.get(to);
  let x = start.x + WIDTH;
  let y = start.y + HEIGHT / 2;
  let path = `M${round(x)} ${round(y)}`;
  const bend = (nextX, nextY) => {
    const middle = round((x + nextX) / 2);
    path += `C${middle} ${round(y)} ${middle} ${round(nextY)} ${round(nextX)} ${round(nextY)}`;
  };
  for (const point of points.slice(1, -1)) {
    if (!columns.has(Math.round(point.x))) continue;
    bend(point.x - WIDTH / 2, point.y);
    path += `H${round(point.x + WIDTH / 2)}`;
    [x, y] = [point.x + WIDTH / 2, point.y];
  }
  bend(end.x, end.y + HEIGHT / 2);
  return path;
}

const round = (value) => Math.round(value * 10) / 10;
