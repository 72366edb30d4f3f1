// Layered layout of the graph view, which loads it when it is first opened.
import dagre from "@dagrejs/dagre";

export const { Graph } = dagre.graphlib ?? dagre;
export const layout = dagre.layout;
